// The stored form of a user's events.
import { nullable, oneOf, record, type Serde, serdeOf, text, time } from '../kernel/serde.ts';
import {
  ACCOUNT_ROLES,
  ROLES,
  type UserAdded,
  type UserEvent,
  type UserPasswordChanged,
  type UserRoleChanged,
  type UserSecondFactorEnrolled,
} from './user.ts';

export const userSerde: Serde<UserEvent> = serdeOf<UserEvent>({
  UserAdded: {
    version: 1,
    shape: record<UserAdded['data']>({
      userId: text(),
      accountId: nullable(text()),
      email: text(),
      name: text(),
      role: oneOf(...ROLES),
      passwordId: nullable(text()),
      at: time,
    }),
    personal: ['email', 'name'],
  },
  UserPasswordChanged: {
    version: 1,
    shape: record<UserPasswordChanged['data']>({ passwordId: text(), at: time }),
    personal: [],
  },
  UserDisabled: { version: 1, shape: record({ at: time }), personal: [] },
  UserEnabled: { version: 1, shape: record({ at: time }), personal: [] },
  UserRoleChanged: {
    version: 1,
    shape: record<UserRoleChanged['data']>({ role: oneOf(...ACCOUNT_ROLES), at: time }),
    personal: [],
  },
  UserSecondFactorEnrolled: {
    version: 1,
    shape: record<UserSecondFactorEnrolled['data']>({ secondFactorId: text(), at: time }),
    personal: [],
  },
  UserSecondFactorReset: { version: 1, shape: record({ at: time }), personal: [] },
});
