using System.Runtime.CompilerServices;

namespace ActOp.Calls;

/// <summary>Checks what code of the application has returned, so that the exception says who is wrong. Any thread.</summary>
internal static class Given
{
    /// <summary>The task that <paramref name="call"/> has returned.</summary>
    /// <exception cref="InvalidOperationException">It has returned null.</exception>
    internal static Task Task(Task? task, [CallerArgumentExpression(nameof(task))] string call = "") => task ?? throw NoTask(call);

    /// <inheritdoc cref="Task(System.Threading.Tasks.Task?, string)"/>
    internal static Task<T> Task<T>(Task<T>? task, [CallerArgumentExpression(nameof(task))] string call = "") =>
        task ?? throw NoTask(call);

    internal static InvalidOperationException NoTask(string call) => new(call + " returned null instead of a task.");
}
