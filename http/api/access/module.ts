// The HTTP module for logins, API keys and users.
import { httpModule } from '../../kernel/httpModule.ts';
import { issueApiKeyRoute, listApiKeysRoute, revokeApiKeyRoute, rotateApiKeyRoute } from './apiKeys.ts';
import { changePasswordRoute, DASHBOARD, logInRoute, logOutRoute, requestPasswordResetRoute } from './login.ts';
import { MEMBER_ROUTES } from './members.ts';
import { OPERATOR_KEY_ROUTES } from './operatorKeys.ts';
import { OPERATOR_USER_ROUTES } from './operatorUsers.ts';
import { SECOND_FACTOR_ROUTES } from './secondFactor.ts';

export const access = httpModule({
  name: 'access',
  chapters: [DASHBOARD],
  routes: [
    logInRoute,
    logOutRoute,
    changePasswordRoute,
    ...SECOND_FACTOR_ROUTES,
    issueApiKeyRoute,
    listApiKeysRoute,
    rotateApiKeyRoute,
    revokeApiKeyRoute,
    requestPasswordResetRoute,
    ...MEMBER_ROUTES,
    ...OPERATOR_KEY_ROUTES,
    ...OPERATOR_USER_ROUTES,
  ],
});
