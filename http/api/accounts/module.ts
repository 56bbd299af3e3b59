// The HTTP module for accounts.
import type { DeclaredSettings } from '../../../domain/kernel/accountSetting.ts';
import { httpModule } from '../../kernel/httpModule.ts';
import { accountRoutes } from './account.ts';
import { accountSchemas } from './accountSchema.ts';
import { operatorAccountRoutes } from './operatorAccounts.ts';

export const accounts = (declared: DeclaredSettings) => {
  const schemas = accountSchemas(declared);
  return httpModule({ name: 'accounts', routes: [...accountRoutes(schemas), ...operatorAccountRoutes(schemas)] });
};
