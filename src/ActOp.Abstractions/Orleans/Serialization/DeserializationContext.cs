using ActOp.Calls;
using Microsoft.Extensions.DependencyInjection;

namespace Orleans.Serialization
{
    /// <summary>What an object that was read may use.</summary>
    public abstract class DeserializationContext
    {
        /// <summary>The part of the silo or client that sends calls.</summary>
        /// <exception cref="InvalidOperationException">The object was read outside of a silo or client.</exception>
        public abstract object RuntimeClient { get; }

        /// <summary>The services of the silo, client or serializer that has read the object.</summary>
        public abstract IServiceProvider ServiceProvider { get; }
    }

    /// <summary>
    /// Is told when an object was read. Called for classes with <c>[SerializationCallbacks(typeof(OnDeserializedCallbacks))]</c>.
    /// </summary>
    public interface IOnDeserialized
    {
        /// <summary>All members are set.</summary>
        void OnDeserialized(DeserializationContext context);
    }
}

namespace Orleans.Runtime
{
    /// <summary>Tells objects that they were read, see <see cref="SerializationCallbacksAttribute"/>. Any thread.</summary>
    public class OnDeserializedCallbacks : Orleans.Serialization.DeserializationContext
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
        public void OnDeserialized(Orleans.Serialization.IOnDeserialized value)
        {
            ArgumentNullException.ThrowIfNull(value);
            value.OnDeserialized(this);
        }
    }
}
