// The HTTP module for provider connections and their callbacks.
import { httpModule } from '../../kernel/httpModule.ts';
import { RECONCILIATION_ROUTES } from '../reconciliation/reconciliation.ts';
import { CALLBACK_ROUTES } from './callbacks.ts';
import { OPERATOR_CALLBACK_ROUTES } from './operatorCallbacks.ts';
import { OPERATOR_CONNECTION_ROUTES } from './operatorConnections.ts';

export const providers = httpModule({
  name: 'providers',
  routes: [...OPERATOR_CONNECTION_ROUTES, ...OPERATOR_CALLBACK_ROUTES, ...RECONCILIATION_ROUTES],
  undocumentedRoutes: CALLBACK_ROUTES,
});
