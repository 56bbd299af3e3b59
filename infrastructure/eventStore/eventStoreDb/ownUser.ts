// A user for Quita alone, made by an administrator: it may write streams as anybody who is logged in, and read $all. It is no
// administrator, so that whoever gets hold of its password can neither make users nor read or change what is the server's own.

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
  /** false: it was there, and has the given password from now on. */
  readonly isNew: boolean;
  /** false: $all had rights given by somebody before, and they let the user read it. */
  readonly rightsAreNew: boolean;
}

/**
 * Makes the user of `ownUrl`, with the rights of the one of `adminUrl`; repeated, it changes the password and nothing else.
 * Throws BadConnectionString, StoreFailure, a ServiceError, and EventStoreUnavailable when the user may not read $all in the end.
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

/** The trailer tells: its status, FAILED_PRECONDITION, says too little. */
const isConflict = (error: unknown): boolean =>
  (error as Partial<ServiceError>).metadata?.get('exception')[0]?.toString() === 'user-conflict';

/** false: the name was taken; it has the password now. */
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
