using Orleans.CodeGeneration;
using Orleans.Serialization.Invocation;

namespace Orleans.Runtime;

/// <summary>A grain call as filters see it, with its options.</summary>
public interface IRequest : IInvokable, IDisposable
{
    /// <summary>Options of the call.</summary>
    InvokeMethodOptions Options { get; }

    /// <summary>Adds options to the call.</summary>
    void AddInvokeMethodOptions(InvokeMethodOptions options);

    /// <summary>The call for people: <c>Interface.Method(arg, arg)</c>.</summary>
    static string ToMethodCallString(IRequest request)
    {
        ArgumentNullException.ThrowIfNull(request);
        var arguments = Enumerable.Range(0, request.GetArgumentCount()).Select(index => request.GetArgument(index)?.ToString() ?? "null");
        return request.GetInterfaceName() + "." + request.GetMethodName() + "(" + string.Join(", ", arguments) + ")";
    }

    /// <summary>The call for people, with its options.</summary>
    static string ToString(IRequest request)
    {
        var text = ToMethodCallString(request);
        return request.Options == InvokeMethodOptions.None ? text : text + " [" + request.Options + "]";
    }
}
