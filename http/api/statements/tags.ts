// The chapter of the API reference that contains this route.
import type { Tag } from '../../kernel/route.ts';

export const STATEMENTS: Tag = {
  name: 'Statements',
  description: 'Monthly statements of an account, for people, spreadsheets and accounting programs.',
};
