/** An object that inherits nothing: a page may have added to `Object.prototype` a property of the name of an optional field. */
export const bare = <T extends object>(fields: T): T => Object.assign(Object.create(null), fields);
