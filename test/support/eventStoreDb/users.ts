// Creates users and changes passwords, for administrators only. The rest of the service is not modeled.
import { type Metadata, type ServerUnaryCall, type sendUnaryData, status } from '@grpc/grpc-js';
import { accessDenied, CallError } from './errors.ts';
import { users } from './messages.ts';
import type { Node } from './node.ts';

type CreateReq = InstanceType<typeof users.CreateReq>;
type ResetPasswordReq = InstanceType<typeof users.ResetPasswordReq>;

const requireAdmin = ({ access }: Node, metadata: Metadata): void => {
  const user = access.authenticate(metadata);
  if (user !== 'everybody' && (user === 'anonymous' || !user.admin)) throw accessDenied();
};

const answered = <Response>(done: sendUnaryData<Response>, work: () => Response): void => {
  try {
    done(null, work());
  } catch (error) {
    done(error as CallError);
  }
};

export const usersOf = (node: Node) => ({
  create: (call: ServerUnaryCall<CreateReq, unknown>, done: sendUnaryData<unknown>) =>
    answered(done, () => {
      requireAdmin(node, call.metadata);
      const options = call.request.getOptions()!;
      if (!node.access.create(options.getLoginName(), options.getPassword()))
        throw new CallError(status.FAILED_PRECONDITION, 'Conflict.', { exception: 'user-conflict' });
      return new users.CreateResp();
    }),
  resetPassword: (call: ServerUnaryCall<ResetPasswordReq, unknown>, done: sendUnaryData<unknown>) =>
    answered(done, () => {
      requireAdmin(node, call.metadata);
      const options = call.request.getOptions()!;
      if (!node.access.resetPassword(options.getLoginName(), options.getNewPassword()))
        throw new CallError(status.NOT_FOUND, 'User not found.', { exception: 'user-not-found' });
      return new users.ResetPasswordResp();
    }),
});
