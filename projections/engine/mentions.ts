// SQL that finds rows whose texts may mention a person.
import type { Person } from '../../application/ports/personalData.ts';
import { spellingsOf } from '../../domain/pix/taxId.ts';

// The texts are not changed before they are compared, because that takes seven times as long. Most are JSON, which escapes some characters.

const BETWEEN = String.raw`(?:[^0-9A-Za-z]|\\(?:[bfnrt]|u[0-9a-f]{4}))`;

/** A character outside ASCII, with the letter that its mark may belong to. Its case and its normal form differ from text to text. */
const FOREIGN = '.?[^ -~]+';
/** Returns a regular expression of the email address. */
const addressPattern = (email: string): string =>
  email
    .normalize('NFD')
    .replaceAll(/([^@.]?[^ -~]+)|[^\w@]/g, (sign, foreign) => (foreign ? FOREIGN : `\\\\*\\${sign}`));

/**
 * Returns a condition that one of the texts mentions the person, and the value of its parameter. It ignores other characters inside a tax
 * id, the case of letters, and Unicode's normal forms. Other texts may match by chance.
 */
export const mentions = (
  person: Person,
  parameter: string,
  texts: readonly string[],
): { readonly condition: string; readonly value: string } => ({
  condition: `(${texts.map((text) => `${text} ~* ${parameter}::text`).join(' OR ')})`,
  value: 'document' in person ? spellingsOf(person.document, BETWEEN) : addressPattern(person.email),
});
