// A capability's sandbox switch, declared once in the capability's folder. Events and the API derive from the declaration (rule X3).
import { type StoredValues, storedValue, type ValueSchema } from './accountSetting.ts';
import type { Json } from './json.ts';
import { flag, type Shape } from './serde.ts';

interface Shown {
  /** Name in events. It never changes. */
  readonly name: string;
  /** Name in the API, which the schemas describe. */
  readonly apiName: string;
  readonly schema: ValueSchema;
  /** Schema of responses. Default: the schema of requests. */
  readonly shownSchema?: ValueSchema;
  /** Whether events omit the initial value, because the oldest ones were written before the switch existed. */
  readonly isUnsaid?: true;
}

export interface SandboxSwitch<T = unknown> extends Shown {
  readonly initial: T;
  /** Returns the stored value, or the initial one if the account has never stored any. */
  readonly of: (sandbox: StoredValues) => T;
  /** Returns the value to store for a value sent to the API. */
  readonly sent: (value: unknown) => T;
  /** Returns the value that the API responds with. */
  readonly shown: (sandbox: StoredValues) => Json;
}

interface Declared<T> extends Shown {
  readonly initial: T;
  readonly shape: Shape<T>;
  /** Converts the API's value to the stored one. Default: they are equal. */
  readonly sent?: (value: unknown) => unknown;
  readonly shown?: (value: T) => Json;
}

export const sandboxSwitch = <T extends Json>(declared: Declared<T>): SandboxSwitch<T> => {
  const { shape, sent = (value) => value, shown = (value) => value, ...rest } = declared;
  const of = storedValue(rest.name, rest.initial, shape);
  return { ...rest, of, sent: (value) => shape.decode(sent(value), rest.name), shown: (sandbox) => shown(of(sandbox)) };
};

/** Declares a switch that is initially on. */
export const onSwitch = (named: Pick<Declared<boolean>, 'name' | 'apiName' | 'isUnsaid'>, description: string) =>
  sandboxSwitch<boolean>({ ...named, initial: true, shape: flag, schema: { type: 'boolean', description } });
