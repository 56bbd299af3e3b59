// Tells which words of a route’s path are parameters of other routes.
import { ROUTES } from '../../../http/api/routes.ts';
import type { Route } from '../../../http/kernel/route.ts';

/** Returns whether another route has a parameter at this position. A respelled word is then a value of that parameter. */
export const isAnothersParameter = (route: Route, at: number): boolean => {
  const own = route.path.split('/');
  return ROUTES.some(({ path }) => {
    const pieces = path.split('/');
    if (pieces.length !== own.length || !pieces[at]?.startsWith('{')) return false;
    return pieces.every((piece, n) => n === at || piece === own[n] || piece.startsWith('{'));
  });
};
