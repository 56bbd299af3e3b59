// `npm run eventstore-user`: makes the user of EVENTSTORE_URL on EventStoreDB, as the administrator of EVENTSTORE_ADMIN_URL. Exit code 0,
// or 2 with one line when a variable is wrong, or the server can't be reached or refuses.

import { BadConnectionString, makeOwnUser } from '../eventStore/eventStoreDb/eventStoreDb.ts';

const given = (name: string): string => {
  const value = process.env[name];
  if (!value) throw new BadConnectionString(`${name} must be set`);
  return value;
};

try {
  const { name, isNew, rightsAreNew } = await makeOwnUser(given('EVENTSTORE_ADMIN_URL'), given('EVENTSTORE_URL'));
  const rights = rightsAreNew ? 'was given the right to read $all' : 'may read $all already';
  process.stdout.write(`The user ${name} ${isNew ? 'was made' : 'has this password now'}, and ${rights}\n`);
} catch (error) {
  process.stderr.write(`quita: EVENTSTORE_URL, EVENTSTORE_ADMIN_URL: ${(error as Error).message}\n`);
  process.exitCode = 2;
}
