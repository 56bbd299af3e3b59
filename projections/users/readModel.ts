import { readModel } from '../engine/readModel.ts';
import { usersProjection } from './projection.ts';
import { userViews } from './queries.ts';

export const users = readModel({ projection: usersProjection, views: (db) => ({ users: userViews(db) }) });
