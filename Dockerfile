# The dashboard in a container: a user without rights, on a read-only root. compose.yaml starts it so.
FROM python:3.12-slim

ENV PYTHONDONTWRITEBYTECODE=1 PYTHONUNBUFFERED=1 HOME=/tmp

WORKDIR /dpbayes
COPY requirements.txt .
# With the driver for tables on PostgreSQL.
RUN pip install --no-cache-dir --disable-pip-version-check -r requirements.txt "psycopg[binary]==3.3.9"
COPY app.py .
COPY .streamlit .streamlit
COPY pages pages
COPY static static
COPY data data
COPY dpbayes dpbayes

RUN useradd --uid 10001 --no-create-home dpbayes && mkdir /ledger && chown dpbayes /ledger
USER dpbayes

# Without a volume here, the ledger ends with the container.
ENV DPBAYES_LEDGER=/ledger/ledger.sqlite
VOLUME /ledger
EXPOSE 8501
HEALTHCHECK CMD ["python", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8501/_stcore/health')"]
ENTRYPOINT ["python", "-m", "dpbayes", "--class"]
CMD ["--port", "8501"]
