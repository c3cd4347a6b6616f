namespace Orleans.Runtime;

/// <summary>Runs work on turns of an activation.</summary>
public interface IWorkItemScheduler
{
    /// <summary>Runs <paramref name="action"/> on a turn.</summary>
    void QueueAction(Action action);

    /// <summary>Runs <paramref name="action"/> with <paramref name="state"/> on a turn.</summary>
    void QueueAction(Action<object> action, object state);

    /// <summary>Runs a task that has not been started on a turn.</summary>
    void QueueTask(Task task);
}
