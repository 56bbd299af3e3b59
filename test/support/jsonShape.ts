// What a JSON value looks like, whatever it holds: two answers of one route have one shape.

/** Returns the shape as text: names of fields in their order, and kinds of values. A list is as its first item. */
export const shapeOf = (value: unknown): string => {
  if (Array.isArray(value)) return value.length === 0 ? '[]' : `[${shapeOf(value[0])}]`;
  if (typeof value !== 'object' || value === null) return value === null ? 'null' : typeof value;
  return `{${Object.entries(value)
    .map(([name, part]) => `${name}:${shapeOf(part)}`)
    .join(',')}}`;
};
