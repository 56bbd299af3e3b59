// The chapter of the reference that these routes stand in.
import type { Tag } from '../../kernel/route.ts';

export const DASHBOARD: Tag = {
  name: 'Dashboard',
  description: 'Logging in, for the people of an account. What is asked for with its token is not for API keys.',
};
