// A switch of an account's sandbox that belongs to a capability. It is declared once, in the capability's folder; events and the API derive
// from the declaration (rule X3).
import { type StoredValues, storedValue, type ValueSchema } from './accountSetting.ts';
import type { Json } from './json.ts';
import { flag, type Shape } from './serde.ts';

interface Shown {
  /** In events. It never changes. */
  readonly name: string;
  /** In the API, as are the schemas. */
  readonly apiName: string;
  readonly schema: ValueSchema;
  /** Of answers. Default: as of requests. */
  readonly shownSchema?: ValueSchema;
  /** Events leave out the initial value, because the oldest of them were written before the switch existed. */
  readonly isUnsaid?: true;
}

export interface SandboxSwitch<T = unknown> extends Shown {
  readonly initial: T;
  /** Returns the value; the initial one if the account has never stored any. */
  readonly of: (sandbox: StoredValues) => T;
  /** Returns the value for what the API was sent. */
  readonly sent: (value: unknown) => T;
  /** Returns what the API answers. */
  readonly shown: (sandbox: StoredValues) => Json;
}

interface Declared<T> extends Shown {
  readonly initial: T;
  readonly shape: Shape<T>;
  /** How the value in the API and that of events differ. Default: they don't. */
  readonly sent?: (value: unknown) => unknown;
  readonly shown?: (value: T) => Json;
}

export const sandboxSwitch = <T extends Json>(declared: Declared<T>): SandboxSwitch<T> => {
  const { shape, sent = (value) => value, shown = (value) => value, ...rest } = declared;
  const of = storedValue(rest.name, rest.initial, shape);
  return { ...rest, of, sent: (value) => shape.decode(sent(value), rest.name), shown: (sandbox) => shown(of(sandbox)) };
};

/** Declares a switch that is on at first. */
export const onSwitch = (named: Pick<Declared<boolean>, 'name' | 'apiName' | 'isUnsaid'>, description: string) =>
  sandboxSwitch<boolean>({ ...named, initial: true, shape: flag, schema: { type: 'boolean', description } });
