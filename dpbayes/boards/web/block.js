// Reads a block: a JSON text, and the 32-bit numbers that it refers to.
function read(bytes) {
  const end = 4 + new DataView(bytes.buffer, bytes.byteOffset).getUint32(0, true);
  const view = JSON.parse(new TextDecoder().decode(bytes.subarray(4, end)));
  const numbers = new Float32Array(bytes.slice(end).buffer);
  // With parts and numbers in the places that name them.
  const whole = (value) => {
    if (Array.isArray(value)) return value.map(whole);
    if (!value || typeof value !== "object") return value;
    if ("@" in value) return whole(view.parts[value["@"]]);
    if (value.$) return numbers.subarray(value.$[0], value.$[0] + value.$[1]);
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, whole(inner)]));
  };
  return { ...view, whole };
}

// A figure with its lines between those of two figures, at a share of the way; the first one if kinds differ or rows state numbers.
function between(figure, other, share) {
  if (!other || !share || figure.layout.meta?.rows || figure.data.length !== other.data.length) return figure;
  const mixed = (value, next) => value + share * (next - value);
  const line = (values, next) =>
    values?.length === next?.length && values?.every?.(Number.isFinite) ? values.map((value, k) => mixed(value, next[k])) : values;
  const data = figure.data.map((trace, k) => ({ ...trace, x: line(trace.x, other.data[k].x), y: line(trace.y, other.data[k].y) }));
  const shapes = figure.layout.shapes?.map((shape, k) => {
    const place = mixed(shape.x0, other.layout.shapes?.[k]?.x0);
    return shape.x0 === shape.x1 && Number.isFinite(place) ? { ...shape, x0: place, x1: place } : shape;
  });
  return { ...figure, data, layout: { ...figure.layout, ...(shapes && { shapes }) } };
}
