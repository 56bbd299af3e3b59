// The chapter of the API reference that contains these routes.
import type { Tag } from '../../kernel/route.ts';

export const DASHBOARD: Tag = {
  name: 'Dashboard',
  description:
    'Login and management of an account by its users. These operations require the token of a login. API keys can’t call them.',
};
