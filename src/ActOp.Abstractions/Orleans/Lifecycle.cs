namespace Orleans;

/// <summary>Something that starts and stops in stages which others can join.</summary>
public interface ILifecycleObservable
{
    /// <summary>Joins a stage.</summary>
    /// <param name="observerName">Name for logs.</param>
    /// <param name="stage">Stages start in ascending order and stop in descending order; the observers of one stage start and stop
    /// together.</param>
    /// <param name="observer">Is told of start and stop.</param>
    /// <returns>Leaves the stage when disposed.</returns>
    IDisposable Subscribe(string observerName, int stage, ILifecycleObserver observer);
}

/// <summary>Is told when a stage starts and stops.</summary>
public interface ILifecycleObserver
{
    /// <summary>The stage starts; the next one waits for the task. An exception ends the start.</summary>
    Task OnStart(CancellationToken cancellationToken = default);

    /// <summary>The stage stops; the one before waits for the task.</summary>
    Task OnStop(CancellationToken cancellationToken = default);
}

/// <summary>A service that joins a lifecycle when it is set up.</summary>
/// <typeparam name="TLifecycleObservable">The lifecycle.</typeparam>
public interface ILifecycleParticipant<TLifecycleObservable>
    where TLifecycleObservable : ILifecycleObservable
{
    /// <summary>Joins the stages that it wants to.</summary>
    void Participate(TLifecycleObservable lifecycle);
}

/// <summary>A lifecycle that can be started and stopped.</summary>
public interface ILifecycleSubject : ILifecycleObservable, ILifecycleObserver
{
}

/// <summary>The start and the end of a client, in the stages of <see cref="ServiceLifecycleStage"/>.</summary>
public interface IClusterClientLifecycle : ILifecycleObservable
{
}

/// <summary>Three moments in the life of a silo or a client, as a service of it.</summary>
public interface IServiceLifecycle
{
    /// <summary>All stages of the start are over.</summary>
    IServiceLifecycleStage Started { get; }

    /// <summary>All stages of the end are over.</summary>
    IServiceLifecycleStage Stopped { get; }

    /// <summary>The end begins.</summary>
    IServiceLifecycleStage Stopping { get; }
}

/// <summary>A moment of <see cref="IServiceLifecycle"/>. Any thread.</summary>
public interface IServiceLifecycleStage
{
    /// <summary>Cancelled when the moment has come and its callbacks have ended.</summary>
    CancellationToken Token { get; }

    /// <summary>Adds a callback. One that is added after the moment runs at once.</summary>
    /// <param name="callback">Gets <paramref name="state"/> and the token of the start or the end, which waits for it.</param>
    /// <param name="state">Anything.</param>
    /// <param name="terminateOnError">Whether its exception ends the start, or is reported by the end; otherwise it is logged.</param>
    /// <returns>Takes the callback back when disposed.</returns>
    IDisposable Register(Func<object?, CancellationToken, Task> callback, object? state = null, bool terminateOnError = true);

    /// <summary>Waits for the moment, until its callbacks have ended.</summary>
    Task WaitAsync(CancellationToken cancellationToken = default);
}

/// <summary>Stages of the start of a silo or a client, in ascending order; it ends in descending order.</summary>
public static class ServiceLifecycleStage
{
    /// <summary>Before all others.</summary>
    public const int First = int.MinValue;

    /// <summary>The runtime sets itself up.</summary>
    public const int RuntimeInitialize = 2000;

    /// <summary>The runtime's services start.</summary>
    public const int RuntimeServices = 4000;

    /// <summary>Storage gets ready.</summary>
    public const int RuntimeStorageServices = 6000;

    /// <summary>Services that are called like grains get ready.</summary>
    public const int RuntimeGrainServices = 8000;

    /// <summary>After <see cref="RuntimeGrainServices"/>.</summary>
    public const int AfterRuntimeGrainServices = 8100;

    /// <summary>The application's services start.</summary>
    public const int ApplicationServices = 10000;

    /// <summary>The silo checks that it reaches the others.</summary>
    public const int ValidateInitialConnectivity = 19900;

    /// <summary>On the way down: the directory is handed over.</summary>
    public const int GrainDirectoryShutdown = 19997;

    /// <summary>On the way down: activations end.</summary>
    public const int GrainDeactivation = 19998;

    /// <summary>The silo joins the cluster.</summary>
    public const int BecomeActive = 19999;

    /// <summary>Grains can be called.</summary>
    public const int Active = 20000;

    /// <summary>After all others.</summary>
    public const int Last = int.MaxValue;
}

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
    public static IDisposable Subscribe(
        this ILifecycleObservable observable, string observerName, int stage, Func<CancellationToken, Task> onStart,
        Func<CancellationToken, Task>? onStop)
    {
        ArgumentNullException.ThrowIfNull(observable);
        ArgumentException.ThrowIfNullOrWhiteSpace(observerName);
        ArgumentNullException.ThrowIfNull(onStart);
        return observable.Subscribe(observerName, stage, new DelegateObserver(onStart, onStop));
    }

    /// <summary>Joins the start of a stage with a method.</summary>
    public static IDisposable Subscribe(
        this ILifecycleObservable observable, string observerName, int stage, Func<CancellationToken, Task> onStart) =>
        observable.Subscribe(observerName, stage, onStart, null);

    /// <summary>Joins a stage under the name of <typeparamref name="TObserver"/>.</summary>
    public static IDisposable Subscribe<TObserver>(this ILifecycleObservable observable, int stage, ILifecycleObserver observer)
    {
        ArgumentNullException.ThrowIfNull(observable);
        ArgumentNullException.ThrowIfNull(observer);
        return observable.Subscribe(NameOf(typeof(TObserver)), stage, observer);
    }

    /// <summary>Joins a stage with two methods under the name of <typeparamref name="TObserver"/>.</summary>
    public static IDisposable Subscribe<TObserver>(
        this ILifecycleObservable observable, int stage, Func<CancellationToken, Task> onStart, Func<CancellationToken, Task> onStop) =>
        observable.Subscribe(NameOf(typeof(TObserver)), stage, onStart, onStop);

    /// <summary>Joins the start of a stage with a method under the name of <typeparamref name="TObserver"/>.</summary>
    public static IDisposable Subscribe<TObserver>(
        this ILifecycleObservable observable, int stage, Func<CancellationToken, Task> onStart) =>
        observable.Subscribe(NameOf(typeof(TObserver)), stage, onStart, null);

    private static string NameOf(Type type) => type.FullName ?? type.Name;
}

/// <summary>A lifecycle observer made of two methods.</summary>
file sealed class DelegateObserver(Func<CancellationToken, Task> onStart, Func<CancellationToken, Task>? onStop) : ILifecycleObserver
{
    public Task OnStart(CancellationToken cancellationToken = default) => onStart(cancellationToken);

    public Task OnStop(CancellationToken cancellationToken = default) => onStop is null ? Task.CompletedTask : onStop(cancellationToken);
}
