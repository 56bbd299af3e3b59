// Calls that only `doctor` makes: server information, and appends that leave no data. The classic Append has no absolute deadline, so it
// works even if the clocks differ.
import { randomUUID } from 'node:crypto';
import gossipService from '@eventstore/db-client/generated/gossip_grpc_pb.js';
import gossip from '@eventstore/db-client/generated/gossip_pb.js';
import serverFeaturesService from '@eventstore/db-client/generated/serverfeatures_grpc_pb.js';
import type { SupportedMethods } from '@eventstore/db-client/generated/serverfeatures_pb.js';
import streams from '@eventstore/db-client/generated/streams_pb.js';
import { credentials, type ServiceError } from '@grpc/grpc-js';
import type { Connection } from './connection.ts';
import { Empty, streamIdentifier, uuidOf } from './messages.ts';

const CALL_MS = 5_000;
const { AppendReq } = streams;
const { LEADER } = gossip.MemberInfo.VNodeState;

/** `expected`: -1 for an empty stream, 'any' for no check. */
interface Probe {
  readonly stream: string;
  readonly expected: number | 'any';
  readonly type: string;
  readonly data: string;
}

interface ClusterNode {
  readonly address: string;
  readonly isAlive: boolean;
  readonly isLeader: boolean;
}

type Done<T> = (error: ServiceError | null, answer?: T) => void;
export const called = <T>(call: (done: Done<T>) => void): Promise<T> =>
  new Promise((resolve, reject) => call((error, answer) => (error ? reject(error) : resolve(answer as T))));

/** Shares the TCP connection; the address and credentials given here are not used. */
const sharing = ({ stub }: Connection) =>
  ['', credentials.createInsecure(), { channelOverride: stub.getChannel() }] as const;
export const soon = () => ({ deadline: Date.now() + CALL_MS });

/** Returns the server's version, such as `23.10.0`. Rejects with a ServiceError. */
export const serverVersion = async (connection: Connection): Promise<string> => {
  const client = new serverFeaturesService.ServerFeaturesClient(...sharing(connection));
  const metadata = connection.metadata({ requiresLeader: false });
  const answer = await called<SupportedMethods>((done) =>
    client.getSupportedMethods(new Empty(), metadata, soon(), done),
  );
  return answer.getEventStoreServerVersion();
};

/** Returns the nodes as the connected node knows them. Rejects with a ServiceError. */
export const clusterNodes = async (connection: Connection): Promise<readonly ClusterNode[]> => {
  const client = new gossipService.GossipClient(...sharing(connection));
  const metadata = connection.metadata({ requiresLeader: false });
  const answer = await called<InstanceType<typeof gossip.ClusterInfo>>((done) =>
    client.read(new Empty(), metadata, soon(), done),
  );
  return answer.getMembersList().map((member) => ({
    address: `${member.getHttpEndPoint()?.getAddress()}:${member.getHttpEndPoint()?.getPort()}`,
    isAlive: member.getIsAlive(),
    isLeader: member.getState() === LEADER,
  }));
};

const optionsOf = ({ stream, expected }: Probe): InstanceType<typeof AppendReq> => {
  const options = new AppendReq.Options();
  options.setStreamIdentifier(streamIdentifier(stream));
  if (expected === 'any') options.setAny(new Empty());
  else if (expected === -1) options.setNoStream(new Empty());
  else options.setRevision(String(expected));
  const request = new AppendReq();
  request.setOptions(options);
  return request;
};

const eventOf = ({ type, data }: Probe): InstanceType<typeof AppendReq> => {
  const message = new AppendReq.ProposedMessage();
  message.setId(uuidOf(randomUUID()));
  message.getMetadataMap().set('type', type).set('content-type', 'application/json');
  message.setData(new Uint8Array(Buffer.from(data)));
  message.setCustomMetadata(new Uint8Array(Buffer.from('{}')));
  const request = new AppendReq();
  request.setProposedMessage(message);
  return request;
};

/** Returns the written revision, or null if the stream is not at the expected one. Rejects with a ServiceError. */
export const appendProbe = async (connection: Connection, probe: Probe): Promise<number | null> => {
  const metadata = connection.metadata({ requiresLeader: true });
  const answer = await called<InstanceType<typeof streams.AppendResp>>((done) => {
    const call = connection.stub.append(metadata, soon(), done);
    call.write(optionsOf(probe));
    call.write(eventOf(probe));
    call.end();
  });
  const success = answer.getSuccess();
  return success === undefined ? null : Number(success.getCurrentRevision());
};
