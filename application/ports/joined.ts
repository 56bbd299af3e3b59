// Joins the parts that capabilities and read models declare into one object.

/** The intersection of all members of a union. */
export type Joined<Union> = (Union extends unknown ? (one: Union) => void : never) extends (all: infer All) => void
  ? All
  : never;

/** Returns one object with the members of all parts. Throws if two parts have a member of the same name. */
export const joined = <Part extends object>(what: string, parts: readonly Part[]): Joined<Part> => {
  const result: Record<string, unknown> = {};
  for (const [name, value] of parts.flatMap(Object.entries)) {
    if (Object.hasOwn(result, name)) throw new Error(`two ${what} named ${name}`);
    result[name] = value;
  }
  return result as Joined<Part>;
};
