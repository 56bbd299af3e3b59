// SQL that finds rows whose texts may mention a person.
import type { Person } from '../../application/ports/personalData.ts';
import { spellingsOf } from '../../domain/pix/taxId.ts';

/** Most texts are JSON, which escapes some characters. Removing them from the texts would take seven times as long. */
const BETWEEN = String.raw`(?:[^0-9A-Za-z]|\\(?:[bfnrt]|u[0-9a-f]{4}))`;

/**
 * Returns a condition that one of the texts mentions the person, and the value of its parameter. Other characters inside a tax id and the
 * case of letters don't matter. Other texts may match by chance.
 */
export const mentions = (
  person: Person,
  parameter: string,
  texts: readonly string[],
): { readonly condition: string; readonly value: string } => {
  const [matches, value] =
    'document' in person
      ? [(text: string) => `${text} ~* ${parameter}::text`, spellingsOf(person.document, BETWEEN)]
      : [(text: string) => `position(${parameter}::text in lower(${text})) > 0`, person.email.toLowerCase()];
  return { condition: `(${texts.map(matches).join(' OR ')})`, value };
};
