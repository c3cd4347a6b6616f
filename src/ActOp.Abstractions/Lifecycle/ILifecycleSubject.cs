namespace Orleans;

/// <summary>A lifecycle that can be started and stopped.</summary>
public interface ILifecycleSubject : ILifecycleObservable, ILifecycleObserver
{
}
