// The HTTP module for accounts.
import { httpModule } from '../../kernel/httpModule.ts';
import { changeAccountSettingsRoute, getAccountRoute, removeLogoRoute, uploadLogoRoute } from './account.ts';
import { OPERATOR_ACCOUNT_ROUTES } from './operatorAccounts.ts';

export const accounts = httpModule({
  name: 'accounts',
  routes: [getAccountRoute, changeAccountSettingsRoute, uploadLogoRoute, removeLogoRoute, ...OPERATOR_ACCOUNT_ROUTES],
});
