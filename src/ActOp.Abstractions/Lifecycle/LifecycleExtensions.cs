using ActOp.Lifecycle;

namespace Orleans;

/// <summary>Shorter ways to join a lifecycle.</summary>
public static class LifecycleExtensions
{
    /// <summary>Joins a stage under the name of the observer's type.</summary>
    public static IDisposable Subscribe(this ILifecycleObservable observable, int stage, ILifecycleObserver observer)
    {
        ArgumentNullException.ThrowIfNull(observable);
        ArgumentNullException.ThrowIfNull(observer);
        return observable.Subscribe(NameOf(observer.GetType()), stage, observer);
    }

    /// <summary>Joins a stage with two methods; without <paramref name="onStop"/> nothing is done at the end.</summary>
    public static IDisposable Subscribe(this ILifecycleObservable observable, string observerName, int stage, Func<CancellationToken, Task> onStart, Func<CancellationToken, Task>? onStop)
    {
        ArgumentNullException.ThrowIfNull(observable);
        ArgumentException.ThrowIfNullOrWhiteSpace(observerName);
        ArgumentNullException.ThrowIfNull(onStart);
        return observable.Subscribe(observerName, stage, new DelegateObserver(onStart, onStop));
    }

    /// <summary>Joins the start of a stage with a method.</summary>
    public static IDisposable Subscribe(this ILifecycleObservable observable, string observerName, int stage, Func<CancellationToken, Task> onStart) =>
        observable.Subscribe(observerName, stage, onStart, null);

    /// <summary>Joins a stage under the name of <typeparamref name="TObserver"/>.</summary>
    public static IDisposable Subscribe<TObserver>(this ILifecycleObservable observable, int stage, ILifecycleObserver observer)
    {
        ArgumentNullException.ThrowIfNull(observable);
        ArgumentNullException.ThrowIfNull(observer);
        return observable.Subscribe(NameOf(typeof(TObserver)), stage, observer);
    }

    /// <summary>Joins a stage with two methods under the name of <typeparamref name="TObserver"/>.</summary>
    public static IDisposable Subscribe<TObserver>(this ILifecycleObservable observable, int stage, Func<CancellationToken, Task> onStart, Func<CancellationToken, Task> onStop) =>
        observable.Subscribe(NameOf(typeof(TObserver)), stage, onStart, onStop);

    /// <summary>Joins the start of a stage with a method under the name of <typeparamref name="TObserver"/>.</summary>
    public static IDisposable Subscribe<TObserver>(this ILifecycleObservable observable, int stage, Func<CancellationToken, Task> onStart) =>
        observable.Subscribe(NameOf(typeof(TObserver)), stage, onStart, null);

    private static string NameOf(Type type) => type.FullName ?? type.Name;
}
