// SQL that finds rows whose texts may mention a person.
import type { Person } from '../../application/ports/personalData.ts';

/** Characters that people write inside a tax id. */
const SEPARATORS = './-_, ';

/**
 * Returns a condition that one of the texts mentions the person, and the value of its parameter. Separators inside a tax id and the case of
 * letters don't matter. Other texts may fulfil it by chance.
 */
export const mentions = (
  person: Person,
  parameter: string,
  texts: readonly string[],
): { readonly condition: string; readonly value: string } => {
  const isDocument = 'document' in person;
  const bare = (text: string) => (isDocument ? `translate(upper(${text}), '${SEPARATORS}', '')` : `lower(${text})`);
  const conditions = texts.map((text) => `position(${parameter}::text in ${bare(text)}) > 0`);
  return {
    condition: `(${conditions.join(' OR ')})`,
    value: isDocument ? person.document.toUpperCase() : person.email.toLowerCase(),
  };
};
