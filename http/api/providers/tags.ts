import type { Tag } from '../../kernel/route.ts';

export const FOR_INSTITUTIONS: Tag = {
  name: 'Callbacks of institutions',
  description: 'Routes by which banks and payment institutions call back.',
};
