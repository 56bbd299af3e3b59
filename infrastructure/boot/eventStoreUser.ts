// `npm run eventstore-user`: creates the user of EVENTSTORE_URL on EventStoreDB, as the administrator of EVENTSTORE_ADMIN_URL. Exit code
// 0, or 2 with one line if a variable is wrong, or if the server can't be reached or rejects the request.

import { BadConnectionString, makeOwnUser } from '../eventStore/eventStoreDb/eventStoreDb.ts';

const given = (name: string): string => {
  const value = process.env[name];
  if (!value) throw new BadConnectionString(`${name} must be set`);
  return value;
};

try {
  const { name, isNew, rightsAreNew } = await makeOwnUser(given('EVENTSTORE_ADMIN_URL'), given('EVENTSTORE_URL'));
  const rights = rightsAreNew ? 'can now read $all' : 'could already read $all';
  process.stdout.write(`The user ${name} ${isNew ? 'was created' : 'now has this password'} and ${rights}\n`);
} catch (error) {
  process.stderr.write(`quita: EVENTSTORE_URL, EVENTSTORE_ADMIN_URL: ${(error as Error).message}\n`);
  process.exitCode = 2;
}
