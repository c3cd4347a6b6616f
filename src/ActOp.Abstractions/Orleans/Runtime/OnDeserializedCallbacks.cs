using ActOp.Calls;
using Microsoft.Extensions.DependencyInjection;
using Orleans.Serialization;

namespace Orleans.Runtime;

/// <summary>Tells objects that they were read, see <see cref="SerializationCallbacksAttribute"/>. Any thread.</summary>
public class OnDeserializedCallbacks : DeserializationContext
{
    /// <summary>Uses services.</summary>
    public OnDeserializedCallbacks(IServiceProvider serviceProvider)
    {
        ArgumentNullException.ThrowIfNull(serviceProvider);
        ServiceProvider = serviceProvider;
    }

    /// <inheritdoc/>
    public override object RuntimeClient => ServiceProvider.GetRequiredService<CallRuntime>();

    /// <inheritdoc/>
    public override IServiceProvider ServiceProvider { get; }

    /// <summary>Called by generated code.</summary>
    public void OnDeserialized(IOnDeserialized value)
    {
        ArgumentNullException.ThrowIfNull(value);
        value.OnDeserialized(this);
    }
}
