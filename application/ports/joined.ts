// Parts that capabilities and read models declare, joined into one object.

/** The intersection of a union's members. */
export type Joined<Union> = (Union extends unknown ? (one: Union) => void : never) extends (all: infer All) => void
  ? All
  : never;

/** Returns one object with everything that the parts have. Throws where two parts have something of one name. */
export const joined = <Part extends object>(what: string, parts: readonly Part[]): Joined<Part> => {
  const result: Record<string, unknown> = {};
  for (const [name, value] of parts.flatMap(Object.entries)) {
    if (Object.hasOwn(result, name)) throw new Error(`two ${what} named ${name}`);
    result[name] = value;
  }
  return result as Joined<Part>;
};
