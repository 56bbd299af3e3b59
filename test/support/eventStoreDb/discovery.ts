// Gossip and ServerFeatures, which a client calls first. Neither requires authentication.
import type { handleUnaryCall } from '@grpc/grpc-js';
import { type Endpoint, unknownError } from './errors.ts';
import type { Faults } from './faults.ts';
import { gossip, StreamsService, serverFeatures, type shared, uuid } from './messages.ts';

const INSTANCE = '5e1f0000-0000-4000-8000-000000000001';
const LEADER_INSTANCE = '5e1f0000-0000-4000-8000-000000000002';

type Empty = InstanceType<typeof shared.Empty>;
type ClusterInfo = InstanceType<typeof gossip.ClusterInfo>;
type SupportedMethods = InstanceType<typeof serverFeatures.SupportedMethods>;

const member = (instance: string, endpoint: Endpoint, state: number) => {
  const address = new gossip.EndPoint();
  address.setAddress(endpoint.host);
  address.setPort(endpoint.port);
  const info = new gossip.MemberInfo();
  info.setInstanceId(uuid(instance));
  info.setTimeStamp(String(Date.now()));
  info.setState(state as Parameters<typeof info.setState>[0]);
  info.setIsAlive(true);
  info.setHttpEndPoint(address);
  return info;
};

/** Reports this node as the leader, or as a follower of the leader in `leaderElsewhere`. */
export const clusterInfo =
  (faults: Faults, self: () => Endpoint): handleUnaryCall<Empty, ClusterInfo> =>
  (_call, callback) => {
    const { LEADER, FOLLOWER } = gossip.MemberInfo.VNodeState;
    const info = new gossip.ClusterInfo();
    info.addMembers(member(INSTANCE, self(), faults.leaderElsewhere === null ? LEADER : FOLLOWER));
    if (faults.leaderElsewhere !== null) info.addMembers(member(LEADER_INSTANCE, faults.leaderElsewhere, LEADER));
    callback(null, info);
  };

export const supportedMethods =
  (faults: Faults): handleUnaryCall<Empty, SupportedMethods> =>
  (_call, callback) => {
    if (faults.serverFeaturesFail) return callback(unknownError('Exception was thrown by handler.'));
    const answer = new serverFeatures.SupportedMethods();
    answer.setEventStoreServerVersion(faults.version);
    for (const { path } of Object.values(StreamsService)) {
      const [, service, method] = path.split('/') as [string, string, string];
      const supported = new serverFeatures.SupportedMethod();
      supported.setServiceName(service);
      supported.setMethodName(method.toLowerCase());
      answer.addMethods(supported);
    }
    callback(null, answer);
  };
