// Examples of the operators' pages.
import { PLATFORM_PAGES } from '../../../http/kernel/callers.ts';
import type { Example } from './exampleParts.ts';

const page = (rest: string, more: Partial<Example> = {}): Example => ({
  path: () => `${PLATFORM_PAGES}${rest}`,
  live: 401,
  ...more,
});

export const PLATFORM_PAGE_EXAMPLES: { readonly [operationId: string]: Example } = {
  showPlatform: page(''),
  showOperatorSettings: page('/settings'),
  changeOperatorPassword: page('/settings/password', { body: { current: 'a wrong one', wanted: 'short' } }),
  enrolOperator: page('/settings/second-factor', { body: {} }),
  confirmOperator: page('/settings/second-factor/confirm', { body: { code: '000000' } }),
};
