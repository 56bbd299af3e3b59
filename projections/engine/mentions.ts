// SQL that finds rows whose texts may mention a person.
import { DOCUMENT_SEPARATORS, DOCUMENT_SEPARATORS_MAX, type Person } from '../../application/ports/personalData.ts';

const SEPARATORS = `[${DOCUMENT_SEPARATORS}]{0,${DOCUMENT_SEPARATORS_MAX}}`;

/** Returns a regular expression of the tax id with any separators. Removing separators from the texts takes seven times as long. */
const spelled = (document: string): string => [...document].join(SEPARATORS);

/**
 * Returns a condition that one of the texts mentions the person, and the value of its parameter. Separators inside a tax id and the case of
 * letters don't matter. Other texts may match by chance.
 */
export const mentions = (
  person: Person,
  parameter: string,
  texts: readonly string[],
): { readonly condition: string; readonly value: string } => {
  const [matches, value] =
    'document' in person
      ? [(text: string) => `${text} ~* ${parameter}::text`, spelled(person.document)]
      : [(text: string) => `position(${parameter}::text in lower(${text})) > 0`, person.email.toLowerCase()];
  return { condition: `(${texts.map(matches).join(' OR ')})`, value };
};
