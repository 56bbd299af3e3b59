// The HTTP module of the audit log. The log's own routes follow c2sp.org/tlog-tiles and are not part of the API.
import { httpModule } from '../../kernel/httpModule.ts';
import { AUDIT_LOG_ROUTES } from './logRoutes.ts';
import { OPERATOR_AUDIT_ROUTES } from './operatorAudit.ts';

export const audit = httpModule({
  name: 'audit',
  routes: OPERATOR_AUDIT_ROUTES,
  undocumentedRoutes: AUDIT_LOG_ROUTES,
});
