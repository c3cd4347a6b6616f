using System.Reflection;

namespace Orleans.Serialization.Invocation;

/// <summary>A method with its arguments, ready to be invoked.</summary>
public interface IInvokable : IDisposable
{
    /// <summary>True when the method takes a cancellation token.</summary>
    bool IsCancellable { get; }

    /// <summary>Name in traces.</summary>
    string GetActivityName();

    /// <summary>Argument <paramref name="index"/>, from 0.</summary>
    object? GetArgument(int index);

    /// <summary>How many arguments there are.</summary>
    int GetArgumentCount();

    /// <summary>The token among the arguments, or none.</summary>
    CancellationToken GetCancellationToken();

    /// <summary>The method's own response timeout, or null.</summary>
    TimeSpan? GetDefaultResponseTimeout();

    /// <summary>The interface's name.</summary>
    string GetInterfaceName();

    /// <summary>The interface.</summary>
    Type GetInterfaceType();

    /// <summary>The interface's method.</summary>
    MethodInfo GetMethod();

    /// <summary>The method's name.</summary>
    string GetMethodName();

    /// <summary>The object the method is invoked on.</summary>
    object? GetTarget();

    /// <summary>Invokes the method.</summary>
    ValueTask<Response> Invoke();

    /// <summary>Replaces argument <paramref name="index"/>.</summary>
    void SetArgument(int index, object value);

    /// <summary>Sets the object the method is invoked on.</summary>
    void SetTarget(ITargetHolder holder);

    /// <summary>Cancels the method if it can be.</summary>
    bool TryCancel();
}
