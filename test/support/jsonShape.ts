// The shape of a JSON value, regardless of its content: two responses of one route have the same shape.

/** Returns the shape as text: field names in order, and kinds of values. A list has the shape of its first item. */
export const shapeOf = (value: unknown): string => {
  if (Array.isArray(value)) return value.length === 0 ? '[]' : `[${shapeOf(value[0])}]`;
  if (typeof value !== 'object' || value === null) return value === null ? 'null' : typeof value;
  return `{${Object.entries(value)
    .map(([name, part]) => `${name}:${shapeOf(part)}`)
    .join(',')}}`;
};
