namespace Orleans.Serialization;

/// <summary>A field has no id: it is the end of an object.</summary>
public sealed class FieldIdNotPresentException() : SerializerException("The field has no id: it is the end of an object.");

/// <summary>A field has no schema type.</summary>
public sealed class SchemaTypeInvalidException() : SerializerException("The field has no schema type: it is the end of an object.");

/// <summary>A field has no type.</summary>
public sealed class FieldTypeInvalidException() : SerializerException("The field has no type: it is the end of an object.");

/// <summary>A field is not the end of an object.</summary>
public sealed class ExtendedWireTypeInvalidException() : SerializerException("The field is not the end of an object.");

/// <summary>A field must say its type.</summary>
public sealed class FieldTypeMissingException(
    Type type) : SerializerException("A field with the abstract type " + type + " must say its type.");

/// <summary>A type is missing in the data.</summary>
public sealed class TypeMissingException() : SerializerException("A type is missing in the data.");

/// <summary>A field is missing in the data.</summary>
public sealed class RequiredFieldMissingException(string message) : SerializerException(message);

/// <summary>A field is written in a way that the codec cannot read.</summary>
public sealed class UnsupportedWireTypeException : SerializerException
{
    public UnsupportedWireTypeException()
        : base("The field is written in a way that its codec cannot read.")
    {
    }

    public UnsupportedWireTypeException(string message)
        : base(message)
    {
    }
}

/// <summary>A field has another length than its type.</summary>
public sealed class UnexpectedLengthPrefixValueException : SerializerException
{
    public UnexpectedLengthPrefixValueException(string message)
        : base(message)
    {
    }

    public UnexpectedLengthPrefixValueException(string typeName, uint expectedLength, uint actualLength)
        : base("A value of type " + typeName + " has " + actualLength + " bytes instead of " + expectedLength + ".")
    {
    }
}

/// <summary>A reference to an object that was not read.</summary>
public sealed class ReferenceNotFoundException(Type? targetType, uint targetId)
    : SerializerException("The reference " + targetId + " to an object of type " + targetType + " was not found.")
{
    public uint TargetReference { get; } = targetId;

    public Type? TargetReferenceType { get; } = targetType;
}

/// <summary>A type that cannot be referred to was referred to.</summary>
public sealed class ReferenceFieldNotSupportedException(Type? targetType)
    : SerializerException("A value of type " + targetType + " cannot be a reference.")
{
    public Type? TargetReferenceType { get; } = targetType;
}

/// <summary>A reference to a type that was not read.</summary>
public sealed class UnknownReferencedTypeException(
    uint reference) : SerializerException("The referenced type " + reference + " is unknown.")
{
    public uint Reference { get; set; } = reference;
}

/// <summary>A number of a well-known type that is not known here.</summary>
public sealed class UnknownWellKnownTypeException(uint id) : SerializerException("The well-known type " + id + " is unknown.")
{
    public uint Id { get; set; } = id;
}

/// <summary>A type that may not be named.</summary>
public sealed class IllegalTypeException(string typeName) : SerializerException("The type " + typeName + " may not be used.")
{
    public string TypeName { get; } = typeName;
}

/// <summary>A type has no serialization constructor.</summary>
public class SerializationConstructorNotFoundException(Type type)
    : Exception("The type " + type + " has no constructor that takes SerializationInfo and StreamingContext.");
