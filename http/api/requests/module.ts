// The request log over HTTP.
import { httpModule } from '../../kernel/httpModule.ts';
import { listRequestLogsRoute } from './requestLogs.ts';

export const requests = httpModule({ name: 'requests', routes: [listRequestLogsRoute] });
