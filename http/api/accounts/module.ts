// The HTTP module for accounts.
import { httpModule } from '../../kernel/httpModule.ts';
import { OPS_ACCOUNT_ROUTES } from '../ops/accounts.ts';
import { changeAccountSettingsRoute, getAccountRoute, removeLogoRoute, uploadLogoRoute } from './account.ts';

export const accounts = httpModule({
  name: 'accounts',
  routes: [getAccountRoute, changeAccountSettingsRoute, uploadLogoRoute, removeLogoRoute, ...OPS_ACCOUNT_ROUTES],
});
