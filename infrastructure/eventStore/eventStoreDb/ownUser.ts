// Creates, as an administrator, a user for Quita. The user may write streams like any logged-in user, and read $all. It is not an
// administrator, so its password does not allow creating users, or reading or changing the server's own streams.

import usersService from '@eventstore/db-client/generated/users_grpc_pb.js';
import users from '@eventstore/db-client/generated/users_pb.js';
import { credentials, type ServiceError } from '@grpc/grpc-js';
import { CATEGORIES } from '../../../domain/aggregates.ts';
import { type Connection, Connector } from './connection.ts';
import { appendProbe, called, soon } from './probes.ts';
import { Reader } from './reader.ts';
import { BadConnectionString, readConnectionString, TIMINGS, type Timings } from './settings.ts';

const { CreateReq, ResetPasswordReq } = users;
const BUILT_IN = ['admin', 'ops'];

interface OwnUser {
  readonly name: string;
  /** false: the user existed and now has the given password. */
  readonly isNew: boolean;
  /** false: $all already had an ACL, which lets the user read it. */
  readonly rightsAreNew: boolean;
}

/**
 * Creates the user of `ownUrl`, logged in as the user of `adminUrl`. A repeat changes only the password.
 * Throws BadConnectionString, StoreFailure, a ServiceError, or EventStoreUnavailable if the user can't read $all afterwards.
 */
export const makeOwnUser = async (adminUrl: string, ownUrl: string, timings: Timings = TIMINGS): Promise<OwnUser> => {
  const own = readConnectionString(ownUrl);
  const admin = readConnectionString(adminUrl);
  if (own.credentials === null || BUILT_IN.includes(own.credentials.username))
    throw new BadConnectionString('it must contain the name and password of the new user, not those of admin or ops');
  const { username: name, password } = own.credentials;
  const connection = await new Connector(admin).connect(timings.connectMs);
  try {
    const isNew = await created(connection, name, password);
    const acl = JSON.stringify({ $acl: { $r: ['$admins', name] } });
    const metadata = { stream: '$$$all', expected: -1, type: '$metadata', data: acl };
    const rightsAreNew = (await appendProbe(connection, metadata)) !== null;
    await assertReads(new Reader({ connector: new Connector(own), timings, onError: () => undefined }));
    return { name, isNew, rightsAreNew };
  } finally {
    connection.close();
  }
};

/** Reads the trailer, because the status FAILED_PRECONDITION is ambiguous. */
const isConflict = (error: unknown): boolean =>
  (error as Partial<ServiceError>).metadata?.get('exception')[0]?.toString() === 'user-conflict';

/** Creates the user, or sets its password if it exists. Returns whether it was created. */
const created = async (connection: Connection, name: string, password: string): Promise<boolean> => {
  const client = new usersService.UsersClient('', credentials.createInsecure(), {
    channelOverride: connection.stub.getChannel(),
  });
  const metadata = connection.metadata({ requiresLeader: true });
  const options = new CreateReq.Options();
  options.setLoginName(name).setFullName('Quita').setPassword(password);
  try {
    await called((done) => client.create(new CreateReq().setOptions(options), metadata, soon(), done));
    return true;
  } catch (error) {
    if (!isConflict(error)) throw error;
  }
  const reset = new ResetPasswordReq.Options();
  reset.setLoginName(name).setNewPassword(password);
  await called((done) => client.resetPassword(new ResetPasswordReq().setOptions(reset), metadata, soon(), done));
  return false;
};

const assertReads = async (reader: Reader): Promise<void> => {
  try {
    await reader.newest(CATEGORIES.map((category) => `${category}-`));
  } finally {
    reader.close();
  }
};
