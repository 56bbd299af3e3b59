import { readModel } from '../engine/readModel.ts';
import { keyringProjection } from './projection.ts';
import { keyViews } from './queries.ts';

export const keyring = readModel({ projection: keyringProjection, views: (db) => ({ keys: keyViews(db) }) });
