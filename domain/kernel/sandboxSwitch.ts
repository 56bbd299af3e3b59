// A switch of an account's sandbox that belongs to a capability. It is declared once, in the capability's folder; events and the API derive
// from the declaration (rule X3).
import type { Json } from './json.ts';
import { flag, type Shape } from './serde.ts';
import { type StoredValues, storedValue, type ValueSchema } from './accountSetting.ts';

export interface SandboxSwitch<T = unknown> {
  /** In events. It never changes. */
  readonly name: string;
  readonly initial: T;
  /** In the API, as are the schemas. */
  readonly apiName: string;
  readonly schema: ValueSchema;
  /** Of answers. Default: as of requests. */
  readonly shownSchema: ValueSchema;
  /** Events leave out the initial value, because the oldest of them were written before the switch existed. */
  readonly isUnsaid: boolean;
  /** Returns the value; the initial one if the account has never stored any. */
  readonly of: (sandbox: StoredValues) => T;
  /** Returns the stored value for what the API was sent. */
  readonly sent: (value: unknown) => unknown;
  /** Returns what the API answers. */
  readonly shown: (sandbox: StoredValues) => Json;
  /** Returns the value that events hold. Throws MalformedEvent for one that is not of the shape. */
  readonly checked: (value: unknown) => T;
}

interface Declared<T> extends Pick<SandboxSwitch<T>, 'name' | 'initial' | 'apiName' | 'schema'> {
  readonly shape: Shape<T>;
  readonly shownSchema?: ValueSchema;
  readonly isUnsaid?: true;
  readonly sent?: (value: unknown) => unknown;
  readonly shown?: (value: T) => Json;
}

export const sandboxSwitch = <T extends Json>({
  shape,
  sent = (value) => value,
  shown = (value) => value,
  ...declared
}: Declared<T>): SandboxSwitch<T> => {
  const { name, initial, schema } = declared;
  const of = storedValue({ name, initial, shape });
  return {
    shownSchema: schema,
    isUnsaid: false,
    ...declared,
    of,
    sent,
    shown: (sandbox) => shown(of(sandbox)),
    checked: (value) => shape.decode(value, name),
  };
};

/** Declares a switch that is on at first. */
export const onSwitch = (named: Pick<Declared<boolean>, 'name' | 'apiName' | 'isUnsaid'>, description: string) =>
  sandboxSwitch<boolean>({ ...named, initial: true, shape: flag, schema: { type: 'boolean', description } });
