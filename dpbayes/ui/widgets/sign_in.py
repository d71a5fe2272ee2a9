"""Sign-in and sign-out, if the server's owner has configured them."""

import os
import time

import streamlit as st
from streamlit.auth_util import get_secrets_auth_section, is_authlib_installed

from dpbayes.base.text import escaped
from dpbayes.base.validation import InputError
from dpbayes.ui.session.grants import ROLES, has_expired
from dpbayes.ui.session.roles import identity, person

EXPIRED = "Your sign-in has expired. Sign in again."


def is_offered() -> bool:
    """Return whether persons can sign in: the owner has named a file of roles and, in the secrets, a provider."""
    return bool(os.environ.get(ROLES)) and bool(get_secrets_auth_section())


def sign_in_button() -> None:
    """Show the button to sign in or out."""
    if is_offered():
        is_in = bool(identity()) and not has_expired(identity(), time.time())
        st.button("Sign out" if is_in else "Sign in", key="sign", on_click=_sign_out if is_in else _sign_in)


def say_who() -> None:
    """Show the name and the role of a person who has signed in."""
    if not is_offered() or not identity():
        return
    if has_expired(identity(), time.time()):
        st.caption(EXPIRED)
    else:
        st.caption(escaped(f"Signed in: {person().name}, {person().role.value}."))


def _sign_in() -> None:
    if not is_authlib_installed():
        raise InputError("Signing in needs the package Authlib. The owner of the server installs dpbayes[login].")
    st.login()


def _sign_out() -> None:
    st.logout()
