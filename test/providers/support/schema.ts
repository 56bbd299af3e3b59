// Finds the central bank’s schema, which is kept outside the repository.
import { existsSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { Ajv } from 'ajv';

const ROOT = join(import.meta.dirname, '../../..');
const PATH = 'shared/pix/bacen-pix-openapi-2.9.0.repaired.json';
/** Next to the repository, or next to the folder of several worktrees. */
const PLACES = [join(ROOT, '..', PATH), join(ROOT, '../..', PATH)];

/** Path of the schema, or null if it is missing. */
const schemaFile: string | null = PLACES.find((place) => existsSync(place)) ?? null;

/** Defines tests that need the schema. Without the schema they are skipped with a message. */
export const judged = (title: string, tests: (this: Mocha.Suite, schema: string) => void): void => {
  if (schemaFile === null) {
    const [wanted = ''] = PLACES;
    process.stderr.write(`Not tested, because ${relative(ROOT, wanted)} is not there: ${title}.\n`);
    return;
  }
  const found = schemaFile;
  describe(title, function () {
    tests.call(this, found);
  });
};

/** The subset of OpenAPI’s JSON Schema that the central bank’s schema uses. */
export interface Schema {
  readonly $ref?: string;
  readonly type?: 'object' | 'array' | 'string' | 'integer' | 'number' | 'boolean';
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly enum?: readonly unknown[];
  readonly pattern?: string;
  readonly format?: string;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly allOf?: readonly Schema[];
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
}

export interface Document {
  readonly components: {
    readonly schemas: Readonly<Record<string, Schema>>;
    readonly requestBodies: Readonly<
      Record<string, { readonly content: { readonly 'application/json': { readonly schema: Schema } } }>
    >;
  };
}

export const readDocument = (file: string): Document => JSON.parse(readFileSync(file, 'utf8')) as Document;

/** Returns a function that tells whether the schema allows a value. Ajv ignores OpenAPI’s additional keywords such as `example`. */
export const validatorOf = (document: Document, schema: Schema): ((value: unknown) => boolean) => {
  const ajv = new Ajv({ strict: false, validateFormats: false });
  const validate = ajv.compile({ ...schema, components: document.components });
  return (value) => validate(value) as boolean;
};
