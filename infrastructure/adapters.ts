// Lists the adapters of all capabilities. The composition, the operators' commands and `trigger` derive from this list.
import { type Joined, joined } from '../application/ports/joined.ts';
import { accounts } from './accounts/adapters.ts';
import { analytics } from './analytics/adapters.ts';
import { audit } from './audit/adapters.ts';
import { disputes } from './disputes/adapters.ts';
import { operations } from './operations/adapters.ts';
import { payments } from './payments/adapters.ts';
import { payouts } from './payouts/adapters.ts';
import { privacy } from './privacy/adapters.ts';
import { providers } from './providers/adapters.ts';
import { refunds } from './refunds/adapters.ts';
import { requests } from './requests/adapters.ts';
import { statements } from './statements/adapters.ts';
import { webhooks } from './webhooks/adapters.ts';

/** In the order in which `--help` lists their commands. */
export const ADAPTERS = [
  accounts,
  payments,
  disputes,
  refunds,
  payouts,
  providers,
  privacy,
  operations,
  requests,
  webhooks,
  statements,
  audit,
  analytics,
] as const;
type One = (typeof ADAPTERS)[number];
type ParameterOf<Make> = [Make] extends [(world: infer World) => unknown] ? World : never;

type Adapters = Awaited<ReturnType<One['adapters']>>;
type OperatorsAdapters = ReturnType<One['operatorsAdapters']>;

/** The input of all adapters of the running program. */
export type World = ParameterOf<One['adapters']>;

export const openAdapters = async (world: World): Promise<Joined<Adapters>> =>
  joined<Adapters>('capabilities have an adapter', await Promise.all(ADAPTERS.map(({ adapters }) => adapters(world))));

export const operatorsAdapters = (world: ParameterOf<One['operatorsAdapters']>): Joined<OperatorsAdapters> =>
  joined<OperatorsAdapters>(
    'capabilities have an operators’ adapter',
    ADAPTERS.map((one) => one.operatorsAdapters(world)),
  );
