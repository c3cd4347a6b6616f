namespace Orleans;

/// <summary>The start and the end of a client, in the stages of <see cref="ServiceLifecycleStage"/>.</summary>
public interface IClusterClientLifecycle : ILifecycleObservable
{
}
