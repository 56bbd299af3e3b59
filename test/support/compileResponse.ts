// Compiles response schemas strictly: an unknown keyword is an error.
import { Ajv, type ValidateFunction } from 'ajv';

const ajv = new Ajv({
  allErrors: true,
  allowUnionTypes: true,
  strict: true,
  strictRequired: false,
  strictTypes: false,
});

export const compileResponse = (schema: object): ValidateFunction => ajv.compile(schema);
