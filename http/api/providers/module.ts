// The HTTP module for provider connections.
import { httpModule } from '../../kernel/httpModule.ts';
import { OPERATOR_CONNECTION_ROUTES } from './operatorConnections.ts';

export const providers = httpModule({ name: 'providers', routes: OPERATOR_CONNECTION_ROUTES });
