// The generated protocol classes of `@eventstore/db-client`, a CommonJS package whose names ES imports can’t see.
import { createRequire } from 'node:module';
import type * as AnyTypes from 'google-protobuf/google/protobuf/any_pb.js';
import type * as EmptyTypes from 'google-protobuf/google/protobuf/empty_pb.js';

const require = createRequire(import.meta.url);
const GENERATED = '@eventstore/db-client/generated';

export const streams = require(
  `${GENERATED}/streams_pb.js`,
) as typeof import('@eventstore/db-client/generated/streams_pb.js');
export const shared = require(
  `${GENERATED}/shared_pb.js`,
) as typeof import('@eventstore/db-client/generated/shared_pb.js');
export const { Status } = require(
  `${GENERATED}/status_pb.js`,
) as typeof import('@eventstore/db-client/generated/status_pb.js');
export const gossip = require(
  `${GENERATED}/gossip_pb.js`,
) as typeof import('@eventstore/db-client/generated/gossip_pb.js');
export const serverFeatures = require(
  `${GENERATED}/serverfeatures_pb.js`,
) as typeof import('@eventstore/db-client/generated/serverfeatures_pb.js');

export const { StreamsService } = require(
  `${GENERATED}/streams_grpc_pb.js`,
) as typeof import('@eventstore/db-client/generated/streams_grpc_pb.js');
export const { GossipService } = require(
  `${GENERATED}/gossip_grpc_pb.js`,
) as typeof import('@eventstore/db-client/generated/gossip_grpc_pb.js');
export const { ServerFeaturesService } = require(
  `${GENERATED}/serverfeatures_grpc_pb.js`,
) as typeof import('@eventstore/db-client/generated/serverfeatures_grpc_pb.js');

export const { UsersService } = require(
  `${GENERATED}/users_grpc_pb.js`,
) as typeof import('@eventstore/db-client/generated/users_grpc_pb.js');
export const users = require(
  `${GENERATED}/users_pb.js`,
) as typeof import('@eventstore/db-client/generated/users_pb.js');

export const { Any } = require('google-protobuf/google/protobuf/any_pb.js') as typeof AnyTypes;
/** google.protobuf.Empty. The protocol’s own `Empty` is `shared.Empty`. */
export const { Empty } = require('google-protobuf/google/protobuf/empty_pb.js') as typeof EmptyTypes;

export type {
  AppendReq,
  AppendResp,
  BatchAppendReq,
  BatchAppendResp,
  DeleteReq,
  DeleteResp,
  ReadReq,
  ReadResp,
  TombstoneReq,
  TombstoneResp,
} from '@eventstore/db-client/generated/streams_pb.js';

/** Returns a stream's name as the protocol encodes it. */
export const streamIdentifier = (stream: string) => {
  const identifier = new shared.StreamIdentifier();
  identifier.setStreamName(Buffer.from(stream, 'utf8').toString('base64'));
  return identifier;
};

export const streamName = (identifier: { getStreamName_asU8(): Uint8Array } | undefined): string =>
  Buffer.from(identifier?.getStreamName_asU8() ?? []).toString('utf8');

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Returns a UUID in lower case with hyphens, as the server does. Throws if the text is not a UUID. */
export const uuidText = (id: InstanceType<typeof shared.UUID> | undefined): string => {
  const text = (id?.getString() ?? '').toLowerCase();
  if (!UUID.test(text)) throw new Error('Unrecognized Guid format.');
  return text;
};

export const uuid = (text: string) => {
  const id = new shared.UUID();
  id.setString(text);
  return id;
};
