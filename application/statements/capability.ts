// Monthly statements of merchants' money (rule M12).
import { capability } from '../core/capability.ts';
import { openStatement, type StatementNeeds } from './openStatement.ts';

export const statements = capability({
  name: 'statements',
  parts: (needs: StatementNeeds) => needs,
  useCases: (needs) => ({ openStatement: openStatement(needs) }),
  operators: (needs: StatementNeeds) => ({ openStatement: openStatement(needs) }),
});
