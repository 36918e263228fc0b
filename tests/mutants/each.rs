//! Work on JOBS threads, by default one a core.

use std::{
    env,
    sync::{Mutex, MutexGuard, PoisonError},
    thread,
};

use crate::error::Error;

/// Does the work on each item, in their order; ends at the first error.
pub(crate) fn each<T: Send>(
    items: Vec<T>,
    work: impl Fn(usize, T) -> Result<(), Error> + Sync,
) -> Result<(), Error> {
    let items = Mutex::new(items.into_iter());
    let result = Mutex::new(Ok(()));
    let jobs =
        number("JOBS")?.unwrap_or_else(|| thread::available_parallelism().map_or(1, usize::from));
    thread::scope(|scope| {
        for worker in 0..jobs {
            let (items, result, work) = (&items, &result, &work);
            scope.spawn(move || {
                while lock(result).is_ok() {
                    let Some(item) = lock(items).next() else { return };
                    if let Err(error) = work(worker, item) {
                        *lock(result) = Err(error);
                    }
                }
            });
        }
    });
    result.into_inner().unwrap_or_else(PoisonError::into_inner)
}

pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A number of the environment.
pub(crate) fn number(name: &'static str) -> Result<Option<usize>, Error> {
    let Ok(value) = env::var(name) else { return Ok(None) };
    match value.parse() {
        Ok(number) => Ok(Some(number)),
        Err(_) => Err(Error::Number { name, value }),
    }
}
